/**
 * The minimal gateway on Bun: it reads the request, forwards it with `fetch` and returns the answer.
 * It checks nothing and records nothing. What our gateway costs in addition is the cost of our own code.
 */
const port = Number(process.env["RELAY_PORT"]);
const upstream = `${process.env["RELAY_UPSTREAM_URL"]}/chat/completions`;

async function relay(request: Request): Promise<Response> {
  const answer = await fetch(upstream, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: request.headers.get("authorization") ?? "",
    },
    body: await request.bytes(),
    signal: request.signal,
    redirect: "manual",
  });
  return new Response(answer.body, {
    status: answer.status,
    headers: { "content-type": answer.headers.get("content-type") ?? "application/octet-stream" },
  });
}

Bun.serve({
  hostname: "127.0.0.1",
  port,
  idleTimeout: 120,
  routes: {
    "/readyz": new Response("ready"),
    "/v1/chat/completions": { POST: relay },
  },
});
