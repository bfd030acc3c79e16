"""The web server's options, and its sockets, as a web process has them."""
