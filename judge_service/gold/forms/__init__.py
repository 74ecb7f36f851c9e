"""Public forms of labelled data, each turned into gold items by one file."""
