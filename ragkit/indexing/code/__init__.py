"""Source files to rows of the code layers, one file a layer (`c0_…` to `c4_…`); `pipeline` is the door.

What layers share: `syntax` and `symbols` (all), `scopes`, `scope_walk` and `values` (C2 to C4), `entries` and `entry_…`
(the finders of C3), `evidence` (the lines that a row shows).
"""
