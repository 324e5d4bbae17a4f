import { createVerify, generateKeyPairSync } from "node:crypto";

/** A generated service account. */
export interface TestAccount {
  /** The text of its key file. */
  readonly json: string;
  /** Returns the claims of an assertion that this account signed; throws for any other. */
  readClaims(assertion: string): Record<string, unknown>;
}

/** Creates an account with a new key. `change` overrides fields of the key file. */
export function makeServiceAccount(change: Readonly<Record<string, unknown>> = {}): TestAccount {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const fields = {
    type: "service_account",
    project_id: "from-the-file",
    private_key_id: "key-1",
    private_key: privateKey,
    client_email: "robot@my-project.iam.gserviceaccount.com",
    token_uri: "https://evil.example/token",
  };
  return {
    json: JSON.stringify({ ...fields, ...change }),
    readClaims(assertion) {
      const [header = "", claims = "", signature = ""] = assertion.split(".");
      const verifier = createVerify("RSA-SHA256").update(`${header}.${claims}`);
      if (!verifier.verify(publicKey, signature, "base64url")) throw new Error("the signature is wrong");
      return JSON.parse(Buffer.from(claims, "base64url").toString("utf8"));
    },
  };
}
