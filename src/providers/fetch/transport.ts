import { type Exchange, type Transport, TransportError } from "../../core/ports/transport.ts";

/** A transport over the runtime's own `fetch`. */
export function createFetchTransport(_: unknown): Transport {
  return {
    open(request): Exchange {
      const abort = new AbortController();
      const init = {
        method: request.method,
        headers: request.headers,
        body: request.body as Uint8Array<ArrayBuffer> | null,
        signal: abort.signal,
        redirect: "manual" as const,
        timeout: false,
        decompress: false,
      };
      const response = fetch(request.url, init).then(
        (answer) => {
          const reader = answer.body?.getReader();
          const read = async () => {
            try {
              return (await reader?.read())?.value ?? null;
            } catch (error) {
              throw new TransportError("truncated", String(error));
            }
          };
          return { status: answer.status, header: (name: string) => answer.headers.get(name), read };
        },
        (error) => {
          throw new TransportError(
            String(error).includes("Unable") ? "connect_failed" : "reset",
            String(error),
          );
        },
      );
      response.catch(() => {});
      return { response, cancel: () => abort.abort() };
    },
    close() {},
  };
}
