"""Copies of files of the service, made by tools/copy-to-client.sh: change them there."""
