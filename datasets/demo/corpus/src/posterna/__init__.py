"""Back end of the Posterna parcel-locker network."""

__version__ = "2.4.0"
