"""Documentation files to rows of the documentation layers: `pipeline` is the door, `outline` what the formats share."""
