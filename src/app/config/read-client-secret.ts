import { readFileSync } from "node:fs";
import { ConfigError } from "./config-error.ts";
import type { Config } from "./config-schema.ts";

/**
 * Returns how to read the secret of the OpenID Connect client: from the configuration, or from the file that it names, which may change
 * while the gateway runs.
 * @throws ConfigError if the file cannot be read or is empty.
 */
export function openClientSecret({
  client_secret: secret,
  client_secret_file: file,
}: NonNullable<Config["console"]["oidc"]>): () => string {
  if (file === undefined) return () => secret ?? "";
  const read = () => readSecret(file);
  read();
  return read;
}

function readSecret(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError(`console.oidc.client_secret_file cannot be read: ${(error as Error).message}`);
  }
  if (text === "") throw new ConfigError(`console.oidc.client_secret_file: ${file} is empty`);
  return text;
}
