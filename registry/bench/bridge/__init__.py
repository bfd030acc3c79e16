"""`bench wab`: the WAB bridge under many sessions, and its limit under a flood."""
