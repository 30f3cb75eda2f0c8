"""What a schema is: model, parser, printer, comparison. Standard library only."""
