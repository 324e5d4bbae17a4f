import { type DatabaseUrl, nameDatabase, parseDatabaseUrl } from "./database-url.ts";

/**
 * Returns an error that says why no connection could be opened, and what to do; null if that is not the reason, or the client's own message
 * is sufficient.
 */
export function explainConnection(error: unknown, url: string): Error | null {
  if (!(error instanceof Error)) return null;
  const reason = describe(error, url);
  return reason === null ? null : new Error(reason, { cause: error });
}

function describe(error: Error, url: string): string | null {
  const code = String((error as { readonly code?: unknown }).code ?? "");
  if (code === "ERR_POSTGRES_TLS_NOT_AVAILABLE")
    return `${nameDatabase(url)} does not offer TLS, which sslmode=${parseDatabaseUrl(url).tls.mode} asks for: switch ssl on at the server, or set sslmode=disable where the network is trusted`;
  if (TLS_CODE.test(code)) return describeHandshake(error, code, parseDatabaseUrl(url));
  if (/no pg_hba\.conf entry.*no encryption/s.test(error.message))
    return `${error.message}; the server takes encrypted connections only: add ?sslmode=require to the URL, or sslmode=verify-full with sslrootcert`;
  return null;
}

const TLS_CODE =
  /^(UNABLE_TO_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_|ERR_SSL_|ERR_POSTGRES_TLS_|HOSTNAME_MISMATCH|INVALID_CA|UNSUITABLE_CERTIFICATE)/;

function describeHandshake(error: Error, code: string, { host, port, tls }: DatabaseUrl): string {
  return `the TLS handshake with ${host}:${port} failed: ${error.message}. ${remedyOf(code, tls)}`;
}

function remedyOf(code: string, { mode, files }: DatabaseUrl["tls"]): string {
  if (/ALTNAME|HOSTNAME/.test(code))
    return "Connect by a name that the certificate has, or set sslmode=verify-ca, which does not compare names";
  if (/EXPIRED|NOT_YET/.test(code)) return "Renew the certificate of the server, or correct the clock";
  if (files.sslrootcert !== undefined)
    return `Set sslrootcert to the certificate of the authority that signed the server's; ${files.sslrootcert} is another one`;
  return `Set sslrootcert to the certificate of the authority that signed the server's (a file in PEM), or sslmode=require, which encrypts without checking the certificate, instead of ${mode}`;
}
