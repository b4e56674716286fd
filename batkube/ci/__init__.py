"""Files that `batkube init ci` writes into the repository of a scheduler."""
