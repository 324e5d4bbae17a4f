import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import type { Contestant } from "./contestant.ts";
import { find, INSTALLED, startProgram } from "./programs.ts";

const folder = join(INSTALLED, "nginx");

/** nginx as a reverse proxy: one worker, connections to the upstream kept, bodies in memory, answers unbuffered. */
export const nginx: Contestant = {
  name: "nginx",
  label: "nginx, reverse proxy",
  async prepare() {
    findNginx();
  },
  async start(upstreamPort) {
    const port = await findFreePort();
    mkdirSync(join(folder, "logs"), { recursive: true });
    const file = join(folder, `nginx-${port}.conf`);
    writeFileSync(file, configure(port, upstreamPort));
    const command = [findNginx(), "-p", folder, "-c", file, "-e", "stderr"];
    return startProgram({ name: "nginx", command, port, readyPath: "/ready" });
  },
};

function findNginx(): string {
  return find("nginx", "install it (Debian: apt-get install nginx)");
}

function configure(port: number, upstreamPort: number): string {
  return `daemon off;
worker_processes 1;
worker_rlimit_nofile 65536;
pid ${folder}/nginx-${port}.pid;
events { worker_connections 24576; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_buffer_size 1m;
  client_body_temp_path ${folder}/client-body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream provider {
    server 127.0.0.1:${upstreamPort};
    keepalive 2048;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 200; }
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}
