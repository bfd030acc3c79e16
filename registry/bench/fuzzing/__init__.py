"""`bench fuzz`: spoiled requests at all faces, and what may come back."""
