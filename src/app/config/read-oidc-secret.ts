import { readFileSync } from "node:fs";
import type { OidcConfig } from "../../core/console/oidc-schema.ts";
import { ConfigError } from "./config-error.ts";
import type { Config } from "./config-schema.ts";

/**
 * Returns the secret of the OpenID Connect client: from the configuration, or from the file that it names, which may change while the
 * gateway runs.
 * @throws ConfigError if the file cannot be read or is empty.
 */
export function readOidcSecret({ client_secret: secret, client_secret_file: file }: OidcConfig): string {
  return file === undefined ? (secret ?? "") : readSecretFile(file);
}

/** Checks that the secret can be read, if there is an OpenID Connect client. @throws ConfigError */
export function requireOidcSecret({ console: { oidc } }: Config): void {
  if (oidc !== undefined) readOidcSecret(oidc);
}

function readSecretFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError(`console.oidc.client_secret_file cannot be read: ${(error as Error).message}`);
  }
  if (text === "") throw new ConfigError(`console.oidc.client_secret_file: ${file} is empty`);
  return text;
}
