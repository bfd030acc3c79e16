"""The face for clients of the Model Context Protocol, at /mcp.

The SDK is imported by `mcp_server` alone, and that when the first message comes: it takes
58 MB and a second, which a registry that nobody asks by MCP need not spend.
"""
