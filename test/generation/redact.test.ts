import { describe, expect, test } from "bun:test";
import { redact, redactSecrets, withoutBilling } from "../../src/core/generation/memory/redact.ts";
import { readVendorError } from "../../src/wire/conversation/errors/vendor-error.ts";
import { growsLinearly, LARGER } from "../growth/measure-growth.ts";

test.each([
  ["a key in a usual form", "Incorrect API key provided: sk-proj-abcdefgh1234."],
  ["the key of the request", "no such key: opaque-0001-hidden"],
  ["an access token of Google", "token ya29.a0AfH6SM-x_y.z is expired"],
  ["a key id of AWS", "Credential=AKIAIOSFODNN7EXAMPLE/20150830/us-east-1"],
  [
    "an AWS session token in a quoted request",
    "The Canonical String for this request should have been\n'POST\n/model/x/converse\n\nx-amz-date:20150830T123600Z\nx-amz-security-token:AQoDYXdzEPT//hidden==\n\nhost'",
  ],
  [
    "team id and key id of xAI",
    "Content violates usage guidelines. Team: 0f1e2d3c-hidden-4455, API key ID: 99aa-hidden-bbcc, Model: grok-4",
  ],
])("redaction removes %s from a vendor's message", (_name, words) => {
  const text = redact(words, "opaque-0001-hidden");
  expect(text).toContain("[redacted]");
  expect(text).not.toMatch(/abcdefgh|hidden|a0AfH6|IOSFODNN/);
});

test("redaction leaves a vendor's message without secrets unchanged", () => {
  const words =
    "This model's maximum context length is 4097 tokens. ASIA is a continent; x-amz-date is wrong.";
  expect(redact(words, null)).toBe(words);
});

/** Vendors' messages with ids; each id contains a 7. */
const WITH_IDS = [
  "Rate limit reached for gpt-4o in organization org-a7b8c9d0e1f2 on tokens per min.",
  "Your account org-a7b8c9d0e1f2<ak-f7ka5c1a8xyzabcd> request reached max request: 3",
  "This would exceed your organization's limit of 50,000 tokens (org: 7b2c3d4e-aaaa-bbbb-cccc-7234567890ab).",
  "Publisher Model `projects/company-7/locations/us-central1/models/gemini-x` not found.",
  "Exceeded for consumer 'project_number:7234567890' with base model: gemini-2.5-pro",
  "Enable it at https://console.developers.google.com/apis/overview?project=723456789",
  "User: arn:aws:iam::723456789012:user/dev may not use arn:aws:bedrock:us-east-1:723456789012:x/y",
  "Your account 7100012345 has not activated the model.",
  "tenant 70000000-1111-2222-3333-444444444444, subscription 79999999-1111-2222-3333-444444444444",
  "See https://console.x.ai/team/7f1e2d3c-4455, or write to owner7@example.com.",
  "账户ID：7100012345 未开通该模型",
  "您的账号7100012345已被限流",
  "帳號 7100012345 的請求過多",
  "用户[72345678]的并发超过限制",
  "アカウント acct_7x8y7z の制限に達しました",
  "계정 72345678의 요청 한도를 초과했습니다",
  "Слишком много запросов в аккаунте 723456.",
  "Trop de requêtes sur le compte 7998877.",
  "Demasiadas peticiones de la cuenta 7998877.",
];

/** Vendors' messages with balances; each balance contains a 7. */
const WITH_BALANCES = [
  "The balance is $7.34, which does not cover it.",
  "Insufficient balance: 7.20 (available: 7.50, frozen 7.70).",
  "You have 7.5 credits left.",
  "You requested up to 8000 tokens, but can only afford 1577.",
  "余额不足，当前余额 7.34 元，请充值。",
  "账户可用余额：-0.07，冻结金额 7.00",
  "餘額不足（剩餘額度 7）",
  "クレジット残高が不足しています。残高: ¥770",
  "잔액이 부족합니다. 잔액: 0.7원",
  "Недостаточно средств. Баланс: 7 734,57 руб.",
  "Solde insuffisant : 7,20 EUR",
  "Saldo insuficiente: US$ 7.20",
  "Guthaben aufgebraucht: 7,00 €",
];

/** Those of them that say that an account has no credit. */
const OUT_OF_CREDIT = WITH_BALANCES.filter((words) => !/^(The balance is|You have|账户可用)/.test(words));

describe("the redaction of vendors' messages", () => {
  test.each(WITH_IDS)("the id of an account is removed: %s", (words) => {
    expect(redact(words, null)).toContain("[redacted]");
    expect(redact(words, null)).not.toContain("7");
  });

  test.each(WITH_BALANCES)("the balance of an account is removed: %s", (words) => {
    expect(redact(words, null)).not.toContain("7");
    expect(withoutBilling(redact(words, null))).toBeNull();
  });

  test.each(OUT_OF_CREDIT)("the message means out of credit with any status: %s", (message) => {
    for (const status of [400, 403, 429, 500])
      expect(readVendorError(status, { error: { message } }).meaning).toBe("out_of_credit");
  });

  test.each([
    "This model's maximum context length is 4097 tokens. You requested 5000 tokens (4000 in the messages).",
    "Missing required parameter: 'user_id'. Unknown key 'top_p2' in org_name, proj_id.",
    "messages.12.content.0: user messages must alternate; got 3 users in a row",
    "Invalid value for 'temperature': expected 0 <= x <= 2, got 3.5",
    "模型 qwen3-235b 不支持参数 temperature=3.5，取值范围为 0-2。",
    "The model asiapacificregional-7b does not exist. See https://example.com/account/api-keys",
  ])("a message about the request is unchanged: %s", (words) => {
    expect(redact(words, null)).toBe(words);
  });

  test("whole sentences about money are removed, also in scripts without spaces", () => {
    expect(withoutBilling("请求过于频繁，请稍后再试。当前套餐额度：100 次/分钟。")).toBe(
      "请求过于频繁，请稍后再试。",
    );
    expect(withoutBilling("Exhausted (e.g. check quota). Wait a moment.")).toBe("Wait a moment.");
  });
});

test("only secrets are removed from text that a model wrote", () => {
  const written = '<function=pay{"account": "12345678", "balance": 77, "key": "sk-abcdefgh1234"}</function>';
  expect(redactSecrets(written, null)).toBe(written.replace("sk-abcdefgh1234", "[redacted]"));
});

test.each([
  ["digits", "1"],
  ["digits with spaces", "1 "],
  ["words for accounts and money", "account balance 12 "],
  ["words for accounts and money in Chinese", "账户余额1"],
  ["dots", "a."],
  ["prefixes of ids", "org-"],
  ["dashes after a project", "-a"],
  ["sums of money", "$1"],
])("the time of a redaction grows linearly with the text: %s", (_name, piece) => {
  const redactRepeated = (length: number) => {
    const text = `project a${piece.repeat(Math.ceil(length / piece.length))}`;
    return () => withoutBilling(redact(text, "k".repeat(20)));
  };
  expect(growsLinearly(redactRepeated(4_000), redactRepeated(LARGER * 4_000))).toBe(true);
});
