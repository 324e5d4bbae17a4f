import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTempRoot } from "../temp-root.ts";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  /** The root that signed the other two, PEM. */
  readonly ca: string;
  /** For localhost, 127.0.0.1 and ::1. */
  readonly local: Certificate;
  /** For another host name. */
  readonly elsewhere: Certificate;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Creates a root and two certificates with `openssl`, valid for a day. No keys are kept in the repository. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(findTempRoot(), "certificates-"));
  try {
    openssl(folder, ["req", "-x509", ...NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=root"]);
    return {
      ca: readFileSync(join(folder, "ca.pem"), "utf8"),
      local: sign(folder, "local", "DNS:localhost,IP:127.0.0.1,IP:::1"),
      elsewhere: sign(folder, "elsewhere", "DNS:elsewhere.example"),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function sign(folder: string, name: string, subjectAltName: string): Certificate {
  const [key, request, cert, extension] = ["key", "csr", "pem", "ext"].map((ending) => `${name}.${ending}`);
  writeFileSync(join(folder, extension!), `subjectAltName=${subjectAltName}`);
  openssl(folder, ["req", ...NEW_KEY, "-keyout", key!, "-out", request!, "-subj", `/CN=${name}`]);
  const signing = ["x509", "-req", "-in", request!, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
  openssl(folder, [...signing, "-out", cert!, "-days", "1", "-extfile", extension!]);
  return {
    key: readFileSync(join(folder, key!), "utf8"),
    cert: readFileSync(join(folder, cert!), "utf8"),
  };
}

function openssl(folder: string, args: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync(["openssl", ...args], { cwd: folder, stderr: "pipe" });
  if (!success) throw new Error(`openssl ${args[0]}: ${stderr}`);
}
