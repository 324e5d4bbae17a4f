/**
 * Compiles assembly/ into WebAssembly within src/. The compiler is installed there, because the gateway does not need it.
 */
import { join } from "node:path";
import { $ } from "bun";

const ROOT = join(import.meta.dir, "../..");
const ASSEMBLY = join(ROOT, "assembly");
const OUTPUT = join(ROOT, "src", "wire", "json", "closing-quotes-wasm.ts");
const OPTIONS = [
  ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd"],
  // One page of 64 KiB, which never grows.
  ["--initialMemory", "1", "--maximumMemory", "1"],
].flat();

/** Installs and runs the compiler, and returns the source file with the compiled code by its path. */
export async function compileAssembly(): Promise<ReadonlyMap<string, string>> {
  await $`npm ci --no-audit --no-fund --ignore-scripts`.cwd(ASSEMBLY).quiet();
  const compiler = join(ASSEMBLY, "node_modules", ".bin", "asc");
  const wasm = join(ASSEMBLY, "node_modules", "closing-quotes.wasm");
  await $`${compiler} closing-quotes.ts --outFile ${wasm} ${OPTIONS}`.cwd(ASSEMBLY);
  const base64 = Buffer.from(await Bun.file(wasm).bytes()).toString("base64");
  const source = `/** The code of assembly/closing-quotes.ts in base64. Written by \`npm run generate -- assembly\`. */
export const CLOSING_QUOTES_WASM =
${(base64.match(/.{1,100}/g) ?? []).map((line) => `  "${line}"`).join(" +\n")};
`;
  return new Map([[OUTPUT, source]]);
}
