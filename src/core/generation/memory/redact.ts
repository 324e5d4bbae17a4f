import { BALANCE_WORD, MONEY_WORD } from "../../../wire/conversation/errors/money-words.ts";

/*
 * Vendors' errors contain what clients must not see: keys, the accounts and projects that they belong to, and balances. Every
 * repetition in these patterns is bounded, so that matching takes time linear in the length of the text.
 */

/** Keys and access tokens, by their form. */
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

/** Words that name the owner of the id that follows. */
const OWNER = [
  "organi[sz]ations?|orgs?|accounts?|teams?|projects?|project_number|workspaces?|tenants?|subscriptions?",
  "customers?|consumers?|users?|uid|api[ -]?key|access[ -]?key",
  "konto|projekt|compte|projet|cuenta|proyecto|organizaci[óo]n|conta|projeto|organiza[çc][ãa]o",
  "аккаунт\\p{L}{0,4}|организаци\\p{L}{0,4}|проект\\p{L}{0,4}|пользовател\\p{L}{0,4}",
].join("|");
/** The same words in scripts without spaces, where the id may follow immediately. */
const OWNER_UNSPACED = [
  "账户|账号|帐户|帐号|帳戶|帳號|賬戶|賬號|用户|用戶|组织|組織|团队|團隊|项目|專案|租户|租戶",
  "アカウント|プロジェクト|チーム|ユーザー|계정|조직|프로젝트|사용자",
].join("|");
/** A word such as "id" between owner and id. */
const NUMBERED = String.raw`(?:\s?(?:id|no\.?|number|编号|編號|番号|번호))?`;
/** An opening quotation mark or bracket. */
const MARK = String.raw`["'“‘「『\[(<（【\x60]?`;
/** An id: a token with a digit, because one without is mostly a word, or a token with the prefix of an id. */
const ID = String.raw`(?:(?=[\w.@-]{0,63}\d)[\w.@-]{2,127}\w|(?:org|proj|acct|ak|ws)[-_][\w-]{1,128})`;
const ID_START = String.raw`(?<![\w.@-])(?=[\w@])`;

/** Ids of accounts, organizations and projects, and email addresses. */
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
/** A character of the same sentence. A decimal point does not end one. */
const SAME_SENTENCE = String.raw`(?:[^\n.。!！?？]|\.(?=\d))`;

/** Balances of accounts: numbers next to a word for a balance, and sums of money. */
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

/** Removes secrets (including `key`) and the ids and balances of accounts from a vendor's message. */
export function redact(text: string, key: string | null): string {
  return redactSecrets(text, key).replace(ACCOUNTS, REDACTED).replace(BALANCES, REDACTED);
}

/** Removes secrets from text that a model wrote. Everything else in it belongs to the caller and is kept. */
export function redactSecrets(text: string, key: string | null): string {
  const withoutKey = key !== null && key.length >= 4 ? text.replaceAll(key, REDACTED) : text;
  return withoutKey.replace(SECRETS, REDACTED);
}

/** The end of a sentence, with the space after it, if its script has spaces. Abbreviations do not end a sentence. */
const SENTENCE_END = /(?<=[.!?])(?<!\b(?:e\.g|i\.e)\.)\s+|(?<=[。！？；])/u;

/** Removes the sentences about the gateway's account at a vendor from a message; null if nothing is left. */
export function withoutBilling(text: string): string | null {
  const kept = text
    .split(SENTENCE_END)
    .filter((sentence) => sentence.trim() !== "" && !MONEY_WORD.test(sentence));
  return kept.length > 0 ? kept.join(" ") : null;
}
