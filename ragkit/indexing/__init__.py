"""From files to rows: which files there are (`files`), what each says (`docs`, `code`), their names (`catalog`).

`pipeline.extract` is the door; only `files` and `git` touch the world, all else are pure functions of text and path.
"""
