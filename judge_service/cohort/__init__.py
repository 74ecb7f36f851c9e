"""Groups that form on the server: members come one by one, to any replica."""
