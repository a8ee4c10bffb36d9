"""The HTTP door: agents ask, operators answer, over loopback and a unix socket."""
