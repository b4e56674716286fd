"""A scheduler extender as its author starts it, on the real clock: it filters, prioritizes and, if asked, binds.

    python extender.py [--takes SECONDS] [--kubeconfig FILE] [--certificate FILE]

It prints its port. Pods may use nodes of odd number only, the higher the better.
"""

import argparse
import json
import re
import ssl
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import yaml

JSON = dict[str, Any]


def number(node: str) -> int:
    return int(re.sub(r"\D", "", node))


def filter_nodes(args: JSON) -> JSON:
    names = args["NodeNames"]
    refused = {name: "its number is even" for name in names if number(name) % 2 == 0}
    return {"NodeNames": [name for name in names if name not in refused], "FailedNodes": refused}


def prioritize(args: JSON) -> list[JSON]:
    return [{"Host": name, "Score": number(name)} for name in args["NodeNames"]]


def bind(args: JSON, kubeconfig: str) -> JSON:
    server = yaml.safe_load(Path(kubeconfig).read_text())["clusters"][0]["cluster"]["server"]
    binding = {
        "metadata": {"name": args["PodName"], "uid": args["PodUID"]},
        "target": {"kind": "Node", "name": args["Node"]},
    }
    url = f"{server}/api/v1/namespaces/{args['PodNamespace']}/pods/{args['PodName']}/binding"
    request = Request(url, json.dumps(binding).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        answer.read()
    return {}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--takes", type=float, default=0.0)
    parser.add_argument("--kubeconfig", default="")
    parser.add_argument("--certificate", default="")
    options = parser.parse_args()

    answers: dict[str, Callable[[JSON], object]] = {
        "filter": filter_nodes,
        "prioritize": prioritize,
        "bind": lambda args: bind(args, options.kubeconfig),
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one piece: else Nagle's algorithm holds the body back for 40 ms

        def do_POST(self) -> None:
            args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            verb = self.path.rpartition("/")[2]
            time.sleep(options.takes)
            body = json.dumps(answers[verb](args)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
