"""The registry as a WAB bridge: WAB 1.0 over HTTP below /api/wab, and over WebSocket.

`dispatcher` answers a command, whatever brought it; the transports only carry. What an
action does is done by the handlers of /v1.
"""
