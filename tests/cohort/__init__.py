"""Groups that form on the server, from the inside and over several processes."""
