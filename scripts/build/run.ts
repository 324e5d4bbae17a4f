/**
 * Builds what is made of the sources: `npm run build -- NAME [arguments]`.
 *
 *   program                                       what `bin/gateway` runs until a source is newer; `npm ci` builds it
 *   executable [--target=NAME] [--outfile=PATH]   one file with the catalog, the console and the documents inside
 *   console FOLDER                                the files of the console
 */
const BUILDS: Readonly<Record<string, () => Promise<unknown>>> = {
  program: () => import("./build-program.ts"),
  executable: () => import("./build-executable.ts").then(({ buildExecutable }) => buildExecutable()),
  console: () => import("../../src/app/console/build-console.ts"),
};

const [, , name = ""] = process.argv;
const build = BUILDS[name];
if (build === undefined) {
  console.log(`npm run build -- ${Object.keys(BUILDS).join("|")} [arguments]`);
  process.exit(2);
}
// The program of a build reads its arguments as if it had been started itself.
process.argv.splice(2, 1);
await build();

export {};
