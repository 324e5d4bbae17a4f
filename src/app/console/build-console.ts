/**
 * Builds the console into a folder: `bun src/app/console/build-console.ts FOLDER`. Each file gets a `.br` and a `.gz` form beside it.
 * It runs in a process of its own, because the bundler's memory is not given back to the system.
 */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { CONSOLE_SOURCES } from "./console-sources.ts";

async function build(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await bundle(folder, { entrypoints: ["main.tsx", "styles/main.css"], format: "esm", splitting: true });
  // A classic script runs before the first paint, so that the page does not flash in the wrong theme.
  await bundle(folder, { entrypoints: ["apply-theme.ts"], format: "iife", splitting: false });
  await copyFile(join(CONSOLE_SOURCES, "icon.svg"), join(folder, "icon.svg"));
  for await (const name of new Bun.Glob("*.{js,css,svg}").scan(folder)) await compress(join(folder, name));
}

async function bundle(
  folder: string,
  { entrypoints, ...options }: Pick<Bun.BuildConfig, "entrypoints" | "format" | "splitting">,
): Promise<void> {
  await Bun.build({
    ...options,
    entrypoints: entrypoints.map((name) => join(CONSOLE_SOURCES, name)),
    outdir: folder,
    target: "browser",
    minify: true,
    naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
  });
}

async function compress(file: string): Promise<void> {
  const bytes = await Bun.file(file).bytes();
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  await Bun.write(`${file}.br`, brotliCompressSync(bytes, { params }));
  await Bun.write(`${file}.gz`, Bun.gzipSync(bytes, { level: 9 }));
}

const folder = process.argv[2];
if (folder === undefined) throw new Error("name the folder for the files: build-console.ts FOLDER");
await build(folder);
