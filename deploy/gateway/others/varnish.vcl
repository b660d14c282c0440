# Varnish in front of a daemon: forwards path, body and the headers of a proof unchanged.
#   varnishd -F -a 127.0.0.1:8443 -f varnish.vcl
vcl 4.1;
backend daemon { .host = "127.0.0.1"; .port = "8000"; .connect_timeout = 5s; }
# A connection for each call, byte for byte: else an empty call is sent twice, and an interim answer or a trailer is 503.
sub vcl_recv { return (pipe); }
sub vcl_pipe { set bereq.http.Connection = "close"; }
