/**
 * Words about an account's balance in vendors' errors, in the languages that vendors use. Each list holds the alternatives of a
 * pattern. Latin and Cyrillic words are matched as whole words; other scripts have no spaces between words.
 */

/** Words for money and credits: a sentence with one of them is about an account and not about the request. */
const MONEY = [
  // English.
  "billing|billed|credits?|payments?|invoices?|recharge|top[- ]?up|balance|funds|wallet|prepaid|prepayment|quota|upgrade",
  "spend|spending|arrears|overdue|afford",
  // German, French, Italian, Spanish, Portuguese.
  "guthaben|kontostand|abrechnung|zahlung|rechnung|kontingent",
  "solde|cr[ée]dits?|facturation|paiement|facture|recharger",
  "saldo|credit[oi]|fatturazione|pagamento|ricarica",
  "cr[ée]ditos?|facturaci[óo]n|pago|recarga|recargar|cuota",
  "cobran[çc]a|fatura|recarregar|cota",
  // Russian, Turkish, Indonesian, Vietnamese.
  "баланс\\p{L}{0,12}|средств\\p{L}{0,12}|оплат\\p{L}{0,12}|сч[её]т\\p{L}{0,12}|кредит\\p{L}{0,12}|пополни\\p{L}{0,12}|квот\\p{L}{0,12}",
  "bakiye\\p{L}{0,12}|kredi\\p{L}{0,12}|ödeme\\p{L}{0,12}|kota\\p{L}{0,12}|pembayaran|kuota|số dư|nạp tiền|thanh toán|hạn mức",
] as const;
const MONEY_UNSPACED = [
  // Chinese, simplified and traditional.
  "余额|餘額|欠费|欠費|充值|儲值|储值|账单|帳單|付费|付費|计费|計費|额度|額度|配额|配額|套餐|资源包|資源包|续费|續費|扣费|扣費|缴费|繳費",
  // Japanese, Korean.
  "残高|課金|請求|支払|料金|クレジット|チャージ|クォータ",
  "잔액|크레딧|결제|청구|요금|충전|할당량",
  // Arabic, Hindi, Thai.
  "رصيد|الدفع|शेष राशि|बैलेंस|भुगतान|ยอดเงิน|เครดิต|ชำระเงิน",
] as const;

/** Words for the remaining balance only. */
const BALANCE = [
  "balance|credits?|funds|afford|guthaben|kontostand|solde|saldo|баланс\\p{L}{0,12}|bakiye\\p{L}{0,12}|số dư",
] as const;
const BALANCE_UNSPACED = [
  "余额|餘額|额度|額度|欠费|欠費|残高|クレジット|잔액|잔고|크레딧|رصيد|बैलेंस|ยอดเงิน",
] as const;

/** Phrases with which vendors report an exhausted balance, besides their codes. */
const OUT_OF_CREDIT = [
  "exceeded your current quota|insufficient (?:balance|credits?|funds)|balance is (?:too low|insufficient)",
  "(?:used all|have any|out of) (?:available )?credits|spending limit|billing hard limit|check your billing",
  "can only afford|failure to pay|INVALID_PAYMENT_INSTRUMENT|overdue balance|account is in arrears",
  "guthaben (?:ist )?(?:nicht ausreichend|aufgebraucht)|unzureichendes guthaben|solde insuffisant|cr[ée]dits? insuffisants?",
  "saldo (?:insuficiente|insufficiente)|cr[ée]ditos? insuficientes?|credito insufficiente|yetersiz bakiye|saldo tidak (?:cukup|mencukupi)",
  "недостаточно (?:средств|кредитов)|недостаточный баланс|số dư không đủ",
  "(?:余额|餘額|额度|額度|资源包|資源包)[^。.]{0,8}(?:不足|用尽|用盡|用完|耗尽|耗盡)|欠费|欠費|请(?:先)?充值|請(?:先)?儲值|請(?:先)?充值",
  "残高[^。]{0,4}不足|クレジット[^。]{0,6}(?:不足|ありません)|잔액[^.]{0,4}부족|크레딧[^.]{0,4}부족|잔고[^.]{0,4}부족",
] as const;

const alone = (lists: readonly string[]): string =>
  `(?<![\\p{L}\\p{N}_])(?:${lists.join("|")})(?![\\p{L}\\p{N}_])`;

/** Matches a word for money or credits. */
export const MONEY_WORD = new RegExp(`${alone(MONEY)}|${MONEY_UNSPACED.join("|")}`, "iu");

/** The source of a pattern for the remaining balance. */
export const BALANCE_WORD = `(?:${alone(BALANCE)}|${BALANCE_UNSPACED.join("|")})`;

/** Matches a report of an exhausted balance. */
export const OUT_OF_CREDIT_WORDS = new RegExp(OUT_OF_CREDIT.join("|"), "iu");
