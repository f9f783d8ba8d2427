"""Shell completion: what fits in an argument (``candidates``), and how shells ask (``shells``)."""
