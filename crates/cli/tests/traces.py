"""A collector for one test: writes its port to a file, then each request it gets, as a line of JSON each, to another.

traces.py PORT_FILE REQUESTS_FILE [CERTIFICATE KEY]
"""
import http.server
import json
import os
import ssl
import sys

PORT, REQUESTS = sys.argv[1:3]


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with open(REQUESTS, "a", encoding="utf-8") as file:
            print(json.dumps({"path": self.path, "headers": headers, "body": json.loads(body)}), file=file)
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[3:5])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(PORT + ".new", "w", encoding="ascii") as file:
    file.write(str(server.server_port))
os.rename(PORT + ".new", PORT)
server.serve_forever()
