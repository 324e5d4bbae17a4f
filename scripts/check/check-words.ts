/**
 * Finds words that must not return in code, comments, strings, file names and documents, because the field has a term for
 * them (docs/glossary.md). Lists each as `file:line: "found": use instead`, then the count for each folder.
 */
import { join } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "../..");

const FILES = ["{src,test,bench,scripts}/**/*.{ts,tsx,css}", "{docs,catalog,src,bench}/**/*.md", "*.md"];

/** Files that quote the words, or that are generated from other files. */
const SKIPPED_FILES = [
  // The benchmark installs the packages of other products here.
  /^bench\/out\//,
  /^bench\/targets\/products\/node_modules\//,
  /^scripts\/check\/check-words\.ts$/,
  /^test\/fidelity\/golden\//,
];

interface BannedWord {
  readonly pattern: RegExp;
  readonly use: string;
}

const BANNED: readonly BannedWord[] = [
  { pattern: /purse/i, use: "hold book" },
  { pattern: /roster/i, use: "served models" },
  { pattern: /sieve|\bsift(s|ed|ing)?\b/i, use: "filter" },
  { pattern: /warm[ _-]?place/i, use: "cache affinity" },
  { pattern: /dialect/i, use: "client API" },
  { pattern: /cutoff/i, use: "deadline, cancellation" },
  { pattern: /passing failures?/i, use: "transient failure" },
  { pattern: /key[ -]?ring|account[ -]?ring|keyRing|accountRing/i, use: "key cache, account cache" },
  { pattern: /key makers?/i, use: "stores" },
  { pattern: /kept answers?|keptAnswer/i, use: "stored response" },
  { pattern: /set[ -]aside|setAside/i, use: "skipped, placeholder, quarantined" },
  { pattern: /\b(own|house) keys?\b/i, use: "BYOK key, platform key" },
  { pattern: /\bhouse\b/i, use: "platform" },
  { pattern: /\bwish(es|ed)?\b/i, use: "request, parameters" },
  { pattern: /\bsteer(s|ed|ing)?\b/i, use: "override, parameter overrides" },
  { pattern: /\bjudg(e|es|ed|ing|ement|ements)\b/i, use: "classify, classification" },
  { pattern: /\b(take|takes|taken|took|taking) up\b/i, use: "reload, use" },
  { pattern: /\bwho(m)?ever\b/i, use: "the client, the caller, the process that …" },
  { pattern: /\b(no|some|every|any)body\b(?! \()/i, use: "no client, a process, every caller …" },
  { pattern: /\bfare[sd]?\b/i, use: "health, outcome" },
  { pattern: /\bdearest\b/i, use: "most expensive, highest" },
  { pattern: /\bdearer\b/i, use: "more expensive, higher" },
  { pattern: /\bfulfil\b/i, use: "commit" },
  { pattern: /\bunproven\b/i, use: "unsigned, anonymous" },
  { pattern: /\bkeep[ -]?pages\b/i, use: "re-exec with allocator settings" },
  { pattern: /\bkey[ -]?waits\b/i, use: "cooldowns" },
  { pattern: /\bin a row\b/i, use: "consecutive" },
];

/** Places where a word is a stored value, an API field or a quotation. */
const ALLOWED: readonly { readonly file: RegExp; readonly text: RegExp }[] = [
  { file: /./, text: /"house"|'house'/ },
  // The message of a provider.
  { file: /^test\/generation\/redact/, text: /got 3 users in a row/ },
];

interface Offence {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly use: string;
}

/** The banned words of one line; a file's name counts as line 0. */
function findInLine(file: string, line: number, text: string): Offence[] {
  const checked = ALLOWED.filter((allowed) => allowed.file.test(file)).reduce(
    (rest, allowed) => rest.replace(new RegExp(allowed.text, "g"), ""),
    text,
  );
  return BANNED.flatMap(({ pattern, use }) => {
    const found = pattern.exec(checked)?.[0];
    return found === undefined ? [] : [{ file, line, found, use }];
  });
}

/** The banned words of a file, by line. */
function findBannedWords(file: string, text: string): Offence[] {
  return [
    ...findInLine(file, 0, file),
    ...text.split("\n").flatMap((line, at) => findInLine(file, at + 1, line)),
  ];
}

async function listOffences(): Promise<Offence[]> {
  const files = new Set<string>();
  for (const pattern of FILES) for await (const file of new Glob(pattern).scan(root)) files.add(file);
  const offences: Offence[] = [];
  for (const file of [...files].sort()) {
    if (SKIPPED_FILES.some((skipped) => skipped.test(file))) continue;
    offences.push(...findBannedWords(file, await Bun.file(join(root, file)).text()));
  }
  return offences;
}

/** `src/core` for a file of `src`, else the top folder or the file. */
function folderOf(file: string): string {
  return file
    .split("/")
    .slice(0, /^(src|test)\//.test(file) ? 2 : 1)
    .join("/");
}

if (import.meta.main) {
  const offences = await listOffences();
  for (const { file, line, found, use } of offences)
    console.error(`${file}:${line}: "${found}": use ${use} instead`);
  const counts = Map.groupBy(offences, ({ file }) => folderOf(file));
  for (const [folder, found] of counts) console.log(`${String(found.length).padStart(5)}  ${folder}`);
  console.log(`words: ${offences.length} to replace`);
  process.exit(offences.length === 0 ? 0 : 1);
}
