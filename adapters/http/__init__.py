"""
The way out: the one place that opens HTTP connections, and what every HTTP adapter shares.

Above: the adapters that speak HTTP. Below: aiohttp, which is imported when the first request goes out.
"""
