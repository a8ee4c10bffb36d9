"""The HTTP interface: agents ask and operators answer, over a loopback port and a unix socket."""
