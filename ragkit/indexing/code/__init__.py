"""Source files to rows of the code layers: `pipeline` is the door, `syntax` and `symbols` what the layers share."""
