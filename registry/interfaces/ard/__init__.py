"""The face for clients of Agentic Resource Discovery (ARD 0.91), below /ard."""
