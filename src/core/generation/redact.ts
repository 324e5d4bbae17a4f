import { BALANCE_WORD, MONEY_WORD } from "../../wire/conversation/money-words.ts";

/*
 * Vendors repeat in their errors what nobody outside should read: keys, the accounts and projects that they belong to,
 * and what is left in them. Every repetition in these patterns is bounded, so that the time grows with the text alone.
 */

/** Keys and tokens by their form. */
const SECRETS = new RegExp(
  [
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{12,128}`,
    String.raw`(?<=x-amz-security-token:\s{0,8})[^\s"\\]{1,4096}`,
    String.raw`\bya29\.[\w.-]{1,4096}`,
    String.raw`(?<=\b(?:Team|API key ID): ?)[\w-]{8,128}`,
    String.raw`\b(?:sk|pk|rk|gsk|xai|gw|key|nvapi|hf|pplx|csk|fw|ak)[-_][A-Za-z0-9*_-]{8,512}`,
    String.raw`Bearer\s{1,8}\S{1,4096}`,
  ].join("|"),
  "g",
);

/** What an id is of, before it. */
const OWNER = [
  "organi[sz]ations?|orgs?|accounts?|teams?|projects?|project_number|workspaces?|tenants?|subscriptions?",
  "customers?|consumers?|users?|uid|api[ -]?key|access[ -]?key",
  "konto|projekt|compte|projet|cuenta|proyecto|organizaci[óo]n|conta|projeto|organiza[çc][ãa]o",
  "аккаунт\\p{L}{0,4}|организаци\\p{L}{0,4}|проект\\p{L}{0,4}|пользовател\\p{L}{0,4}",
].join("|");
/** The same in scripts without spaces, where the id may follow at once. */
const OWNER_UNSPACED = [
  "账户|账号|帐户|帐号|帳戶|帳號|賬戶|賬號|用户|用戶|组织|組織|团队|團隊|项目|專案|租户|租戶",
  "アカウント|プロジェクト|チーム|ユーザー|계정|조직|프로젝트|사용자",
].join("|");
/** "id" and the like, and a mark of quotation. */
const NUMBERED = String.raw`(?:\s?(?:id|no\.?|number|编号|編號|番号|번호))?`;
const MARK = String.raw`["'“‘「『\[(<（【\x60]?`;
/** A token with a digit in it, because what has none is mostly a word, or one with the usual head of an id. */
const ID = String.raw`(?:(?=[\w.@-]{0,63}\d)[\w.@-]{2,127}\w|(?:org|proj|acct|ak|ws)[-_][\w-]{1,128})`;
const ID_START = String.raw`(?<![\w.@-])(?=[\w@])`;

/** Accounts, organizations and projects by their ids, and mail addresses. */
const ACCOUNTS = new RegExp(
  [
    String.raw`\b(?:org|proj|acct)[-_](?:[A-Za-z0-9]{6,128}|(?=[\w-]{0,63}\d)[\w-]{1,128})`,
    String.raw`\b(?:acc|team|user|cus|sub|wrkspc|workspace|tenant)[-_](?=[\w-]{0,63}\d)[\w-]{6,128}`,
    String.raw`(?<=\barn:aws[\w-]{0,16}:[\w-]{0,32}:[\w-]{0,32}:)\d{12}\b`,
    String.raw`(?<=\bprojects?[/ ]["'\x60]?)[a-z][a-z0-9]{0,29}(?:-[a-z0-9]{1,29}){1,6}\b`,
    String.raw`${ID_START}(?<=(?<![\p{L}\p{N}_])(?:${OWNER})${NUMBERED}(?:\s{0,2}[:=#/：]\s{0,2}|\s{1,2})${MARK})${ID}`,
    String.raw`(?=[\w@])(?<=(?:${OWNER_UNSPACED})${NUMBERED}\s{0,2}[:=#：]?\s{0,2}${MARK})${ID}`,
    String.raw`\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}`,
  ].join("|"),
  "giu",
);

const CURRENCY = "[$€£¥￥₩₹₽฿]";
const NUMBER = String.raw`\d(?:[\d,.\u00a0 ]{0,18}\d)?`;
/** As far as a sentence goes, a point within a number being none of its ends. */
const SAME_SENTENCE = String.raw`(?:[^\n.。!！?？]|\.(?=\d))`;

/** What is left in an account: numbers beside a word for it, and sums of money. */
const BALANCES = new RegExp(
  [
    String.raw`[-−]?${CURRENCY}\s?[-−]?${NUMBER}`,
    String.raw`[-−]?(?<![\d.,])${NUMBER}(?=\s{0,2}(?:usd|eur|gbp|cny|rmb|jpy|krw|inr|rub|dollars?|元|円|圓|원|руб\p{L}{0,4})(?![\p{L}\p{N}]))`,
    String.raw`(?<![\d.,])(?=\d)(?<=${BALANCE_WORD}${SAME_SENTENCE}{0,60})${NUMBER}`,
    String.raw`(?<![\d.,])${NUMBER}(?=[^\n.。!！?？\d]{0,24}${BALANCE_WORD})`,
  ].join("|"),
  "giu",
);

const REDACTED = "[redacted]";

/** A vendor's words without secrets, `key` among them, and without the ids and balances of accounts. */
export function redact(text: string, key: string | null): string {
  return redactSecrets(text, key).replace(ACCOUNTS, REDACTED).replace(BALANCES, REDACTED);
}

/** What a model wrote, without secrets. All else in it is the caller's. */
export function redactSecrets(text: string, key: string | null): string {
  const withoutKey = key !== null && key.length >= 4 ? text.replaceAll(key, REDACTED) : text;
  return withoutKey.replace(SECRETS, REDACTED);
}

/** Where a sentence ends. Scripts without spaces have none behind it; an abbreviation ends none. */
const SENTENCE_END = /(?<=[.!?])(?<!\b(?:e\.g|i\.e)\.)\s+|(?<=[。！？；])/u;

/** A vendor's words without the sentences about the gateway's account there; null where nothing is left. */
export function withoutBilling(text: string): string | null {
  const kept = text
    .split(SENTENCE_END)
    .filter((sentence) => sentence.trim() !== "" && !MONEY_WORD.test(sentence));
  return kept.length > 0 ? kept.join(" ") : null;
}
