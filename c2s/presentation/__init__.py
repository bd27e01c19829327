"""Values to exact bytes, and the request texts. The only place that serialises what goes over the wire."""
