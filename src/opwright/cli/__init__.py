"""The command line: `opwright`. Each command is a file, loaded when the command is used."""

from opwright.cli.app import main as main
