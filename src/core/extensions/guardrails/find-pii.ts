import { isIPv6 } from "node:net";
import type { FindMatches, Match } from "./find-in-text.ts";

/**
 * Kinds of personal data that have a recognizable form. Every expression either has only bounded repetitions, or starts only at the
 * beginning of a run of its characters, so that a search takes linear time.
 */
const FINDERS = {
  email: findEmails,
  credit_card: findCreditCards,
  iban: findIbans,
  ssn: (text, from) => findAll(text, { from, pattern: SSN, kind: "SSN" }),
  phone: (text, from) => [
    ...findAll(text, { from, pattern: INTERNATIONAL_PHONE, kind: "PHONE", accepts: hasPhoneDigits }),
    ...findAll(text, { from, pattern: US_PHONE, kind: "PHONE" }),
  ],
  ip: findAddresses,
} as const satisfies Readonly<Record<string, FindMatches>>;

/** A kind of personal data. */
export type PiiType = keyof typeof FINDERS;

/** All kinds of personal data, the most certain first. If two match the same text, the earlier one counts. */
export const PII_TYPES = Object.keys(FINDERS) as readonly PiiType[];

/** Returns a function that finds these kinds of personal data. */
export function createPiiFinder(types: readonly PiiType[]): FindMatches {
  const finders = listPiiFinders(types);
  return (text, from) => joinPii(finders.map((find) => find(text, from)));
}

/** Returns a function for each of these kinds, the most certain first. */
export function listPiiFinders(types: readonly PiiType[]): readonly FindMatches[] {
  return PII_TYPES.filter((type) => types.includes(type)).map((type) => FINDERS[type]);
}

/** Joins what the functions of `listPiiFinders` have found: where matches overlap, the more certain remains. In order. */
export function joinPii(lists: readonly (readonly Match[])[]): readonly Match[] {
  const matches: Match[] = [];
  for (const found of lists) addDisjoint(matches, found);
  return matches;
}

/** Adds the matches that overlap none of the earlier ones. Sorts both lists by position. */
function addDisjoint(matches: Match[], found: readonly Match[]): void {
  const before = [...matches];
  let at = 0;
  for (const match of found.toSorted(byStart)) {
    while (at < before.length && (before[at] as Match).end <= match.start) at++;
    const next = before[at];
    if (next === undefined || next.start >= match.end) matches.push(match);
  }
  matches.sort(byStart);
}

function byStart(a: Match, b: Match): number {
  return a.start - b.start;
}

interface Search {
  readonly from: number | undefined;
  /** Global. */
  readonly pattern: RegExp;
  readonly kind: string;
  readonly accepts?: (found: string) => boolean;
}

function findAll(text: string, { from = 0, pattern, kind, accepts }: Search): Match[] {
  const matches: Match[] = [];
  pattern.lastIndex = from;
  for (const { 0: found, index } of text.matchAll(pattern))
    if (accepts === undefined || accepts(found))
      matches.push({ start: index, end: index + found.length, kind });
  return matches;
}

const LOCAL_CHAR = /[\p{L}\p{N}._%+'-]/u;
const DOMAIN = /[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}-])/uy;
const LOCAL_CHARS = 64;

/** Checks the text around each `@`, so that texts without one only cost the search for a character. */
function findEmails(text: string, from = 0): Match[] {
  const matches: Match[] = [];
  let floor = from;
  for (let at = text.indexOf("@", from); at >= 0; at = text.indexOf("@", at + 1)) {
    const start = startOfLocal(text, at, floor);
    if (start === at) continue;
    DOMAIN.lastIndex = at + 1;
    const domain = DOMAIN.exec(text);
    if (domain === null) continue;
    const end = at + 1 + domain[0].length;
    matches.push({ start, end, kind: "EMAIL" });
    floor = end;
  }
  return matches;
}

/** Returns where the part before an `@` begins. `floor` is the earliest position. */
function startOfLocal(text: string, at: number, floor: number): number {
  const least = Math.max(floor, at - LOCAL_CHARS);
  let start = at;
  while (start > least && LOCAL_CHAR.test(text.charAt(start - 1))) start--;
  // In JSON within a text, the letter after a backslash belongs to the escape.
  if (text.charAt(start - 1) === "\\" && start < at) start++;
  return start;
}

const CARD =
  /(?<![\d.])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})(?![\d]|\.\d)/g;

function findCreditCards(text: string, from?: number): Match[] {
  const accepts = (found: string) => hasCardPrefix(found) && passesLuhn(found);
  return findAll(text, { from, pattern: CARD, kind: "CREDIT_CARD", accepts });
}

/** The first digit of the networks' numbers: 2 to 6. Others are used by airlines and fuel cards, and mostly are other numbers. */
function hasCardPrefix(text: string): boolean {
  const first = text.charAt(0);
  return first >= "2" && first <= "6";
}

/** Whether the last digit is the check digit of the others (ISO/IEC 7812-1). */
function passesLuhn(text: string): boolean {
  const digits = text.replace(/\D/g, "");
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const weighted = at % 2 === 0 ? digit : digit * 2;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

const IBAN_START = /(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}/g;

function findIbans(text: string, from = 0): Match[] {
  const matches: Match[] = [];
  IBAN_START.lastIndex = from;
  for (const { index, 1: country = "" } of text.matchAll(IBAN_START)) {
    const chars = IBAN_CHARS[country.toUpperCase()];
    const end = chars === undefined ? -1 : endOfGroups(text, index, chars);
    if (end >= 0 && passesMod97(text.slice(index, end))) matches.push({ start: index, end, kind: "IBAN" });
  }
  return matches;
}

/** Returns where an IBAN may begin that the end of the text truncates; the length of the text if there is none. */
export function startOfCutIban(text: string, from: number): number {
  IBAN_START.lastIndex = Math.max(from, text.length - MAX_IBAN_CHARS);
  for (const { index, 1: country = "" } of text.matchAll(IBAN_START)) {
    const chars = IBAN_CHARS[country.toUpperCase()];
    if (chars !== undefined && reachesEnd(text, index, chars)) return index;
  }
  return text.length;
}

/** The longest IBAN has 34 characters, and a space after each but the last. */
const MAX_IBAN_CHARS = 67;

/** Whether the groups that begin here reach the end of the text, so that more of them may follow. */
function reachesEnd(text: string, start: number, chars: number): boolean {
  for (let at = start, left = chars; at < text.length; at++) {
    if (ALPHANUMERIC.test(text.charAt(at))) left--;
    else if (left === 0 || text.charAt(at) !== " " || text.charAt(at - 1) === " ") return false;
    if (left < 0) return false;
  }
  return true;
}

/** Returns the end of `chars` letters and digits, which single spaces may separate; -1 if there are fewer or more. */
function endOfGroups(text: string, start: number, chars: number): number {
  let at = start;
  for (let left = chars; left > 0; at++) {
    if (ALPHANUMERIC.test(text.charAt(at))) left--;
    else if (text.charAt(at) !== " " || text.charAt(at - 1) === " ") return -1;
  }
  return ALPHANUMERIC.test(text.charAt(at)) ? -1 : at;
}

const ALPHANUMERIC = /[A-Za-z0-9]/;

/** Whether the check digits of an IBAN are right (ISO 13616). */
function passesMod97(iban: string): boolean {
  const text = iban.replaceAll(" ", "").toUpperCase();
  let rest = 0;
  for (const char of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const SSN = /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g;

const INTERNATIONAL_PHONE = /(?<![\w+])\+[1-9](?:[ ().-]{0,2}\d){6,14}(?![\d])/g;
const US_PHONE = /(?<![\d+(-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])[2-9]\d{2}[-. ]\d{4}(?![\d-])/g;

function hasPhoneDigits(text: string): boolean {
  const digits = text.replace(/\D/g, "").length;
  return digits >= 8 && digits <= 15;
}

const OCTET = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const IPV4 = new RegExp(`(?<![\\w.])(?:${OCTET}\\.){3}${OCTET}(?![\\w]|\\.\\d)`, "g");
const IPV6 = /(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])/g;
/** Short forms such as `a::b` also stand in programs. */
const IPV6_GROUPS = 3;

function findAddresses(text: string, from?: number): Match[] {
  const isPersonal = (address: string) => !address.startsWith("127.") && !address.startsWith("0.");
  const isAddress = (found: string) =>
    isIPv6(found) && found.split(":").filter((group) => group !== "").length >= IPV6_GROUPS;
  return [
    ...findAll(text, { from, pattern: IPV4, kind: "IP", accepts: isPersonal }),
    ...findAll(text, { from, pattern: IPV6, kind: "IP", accepts: isAddress }),
  ];
}

/** The number of characters of an IBAN, by country (ISO 13616). */
const IBAN_CHARS: Readonly<Record<string, number>> = {
  ...{ AD: 24, AE: 23, AL: 28, AT: 20, AZ: 28, BA: 20, BE: 16, BG: 22, BH: 22, BI: 27, BR: 29, BY: 28 },
  ...{ CH: 21, CR: 22, CY: 28, CZ: 24, DE: 22, DJ: 27, DK: 18, DO: 28, EE: 20, EG: 29, ES: 24, FI: 18 },
  ...{ FK: 18, FO: 18, FR: 27, GB: 22, GE: 22, GI: 23, GL: 18, GR: 27, GT: 28, HN: 28, HR: 21, HU: 28 },
  ...{ IE: 22, IL: 23, IQ: 23, IS: 26, IT: 27, JO: 30, KW: 30, KZ: 20, LB: 28, LC: 32, LI: 21, LT: 20 },
  ...{ LU: 20, LV: 21, LY: 25, MC: 27, MD: 24, ME: 22, MK: 19, MN: 20, MR: 27, MT: 31, MU: 30, NI: 28 },
  ...{ NL: 18, NO: 15, OM: 23, PK: 24, PL: 28, PS: 29, PT: 25, QA: 29, RO: 24, RS: 22, RU: 33, SA: 24 },
  ...{ SC: 31, SD: 18, SE: 24, SI: 19, SK: 24, SM: 27, SO: 23, ST: 25, SV: 28, TL: 23, TN: 24, TR: 26 },
  ...{ UA: 29, VA: 22, VG: 24, XK: 20, YE: 30 },
};
