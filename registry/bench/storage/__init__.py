"""What tables take, and what makes them smaller."""
