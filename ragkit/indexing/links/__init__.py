"""The link step: what the files of a session say together. Spec: system.md §5 (Link).

An extractor emits what one file says, with unresolved references. Each file's `LinkPart` holds the names that it offers
and the references that it asks about; `SessionLinks` is made of all parts and answers each file by a `FileLinks`;
`linked_rows` writes the answers into the file's rows. Pure, over names alone, never cached with the blob. The digest of
a `FileLinks` tells whether an unchanged file's rows still hold when other files changed: only where it differs is the
file written again.

Rejected: links in a table of their own that answers join (every reader pays for it, and words of a joined route would
not be found), and re-linking only what a change seems to touch (a base class, a re-export or a prefix reaches further
than any rule says; a full pass over names costs some 20 µs a reference).
"""
