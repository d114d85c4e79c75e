/**
 * Bar codes and matrix codes of a document → fields: VINs, and the codes for payment and tax on invoices. The Aztec code of
 * Polish certificates is compressed (NRV2E); no library under a suitable licence reads it, so it stays unread.
 */
import type { DOCUMENT_TYPES } from '../../contracts/vocabulary/documents.ts';
import type { FoundCode } from '../../inference/toolkit/codes/read-codes.ts';
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { findCodedVins } from '../shared/coded-vins.ts';
import { parseDate } from './parse-date.ts';
import type { Result } from './result.ts';

type DocumentType = (typeof DOCUMENT_TYPES)[number];
type Field = Result['fields'][number];
type Place = Pick<Field, 'image_index' | 'bbox'>;
type Parser = (text: string) => Coded;

/** What a code for payment or tax holds, each as encoded. */
interface Coded {
  issuer_name?: string | undefined;
  invoice_number?: string | undefined;
  /** As `parseDate` takes it. */
  issue_date?: string | undefined;
  tax_amount?: string | undefined;
  total_amount?: string | undefined;
  currency?: string | undefined;
}

/** Corrected by its own redundancy. */
const DECODED = 0.99;
/** Types whose amounts and issuers payment codes repeat. */
const BILLS: ReadonlySet<DocumentType | null> = new Set(['invoice', 'repair_estimate', 'service_record', null]);

export function fieldsOfCodes(codes: readonly FoundCode[], type: DocumentType | null, imageIndex: number): Field[] {
  const placeOf = ({ quad }: Pick<FoundCode, 'quad'>): Place => ({
    image_index: imageIndex,
    bbox: toBoundingBox(boxAround(quad)),
  });
  const vins = findCodedVins(codes).map((vin): Field => {
    const { text } = vin;
    return { type: 'text', name: 'vin', value: text, label: null, text, confidence: DECODED, ...placeOf(vin) };
  });
  if (!BILLS.has(type)) return vins;
  const bills = codes.flatMap((code) =>
    code.content ? PARSERS.flatMap((parse) => fieldsOf(parse(code.content?.text ?? ''), placeOf(code))) : [],
  );
  return [...vins, ...bills];
}

const PARSERS: readonly Parser[] = [parseSepa, parseSwiss, parsePortuguese];
const YEAR_FIRST = /^(\d{4})(\d\d)(\d\d)$/;
const AMOUNT = /^\d{1,9}(?:\.\d{1,2})?$/;

function fieldsOf(coded: Coded, place: Place): Field[] {
  const common = (text: string) => ({ label: null, text, confidence: DECODED, ...place });
  const texts = (['issuer_name', 'invoice_number'] as const).flatMap((name): Field[] => {
    const value = coded[name]?.trim();
    return value ? [{ type: 'text', name, value, ...common(value) }] : [];
  });
  const date = parseDate(coded.issue_date?.replace(YEAR_FIRST, '$1-$2-$3') ?? '', null);
  const dates: Field[] =
    date && coded.issue_date
      ? [{ type: 'date', name: 'issue_date', value: date.value, ...common(coded.issue_date) }]
      : [];
  const amounts = (['tax_amount', 'total_amount'] as const).flatMap((name): Field[] => {
    const text = coded[name] ?? '';
    if (!AMOUNT.test(text)) return [];
    const value = Math.round(100 * Number(text));
    return [{ type: 'money', name, value, currency: coded.currency ?? null, ...common(text) }];
  });
  return [...texts, ...dates, ...amounts];
}

/** The code for SEPA transfers: EPC069-12. */
function parseSepa(text: string): Coded {
  const [service, version, , transfer, , name, , amount = ''] = text.split(/\r?\n/);
  if (service !== 'BCD' || !/^00[12]$/.test(version ?? '') || transfer !== 'SCT') return {};
  const [, total] = /^EUR(.+)$/.exec(amount) ?? [];
  return { issuer_name: name, total_amount: total, currency: 'EUR' };
}

/** The Swiss QR-bill: SIX, Implementation Guidelines, version 2. */
function parseSwiss(text: string): Coded {
  const lines = text.split(/\r?\n/);
  const [kind, version = ''] = lines;
  const currency = lines[19] ?? '';
  if (kind !== 'SPC' || !version.startsWith('02') || !/^(?:CHF|EUR)$/.test(currency)) return {};
  return { issuer_name: lines[5], total_amount: lines[18], currency };
}

/** The tax authority's code on invoices of Portugal: Portaria 195/2020. */
function parsePortuguese(text: string): Coded {
  const elements = new Map(text.split('*').map((part) => [part.split(':', 1)[0], part.slice(part.indexOf(':') + 1)]));
  if (!/^A:\d{9}\*B:/.test(text) || !elements.has('O')) return {};
  return {
    invoice_number: elements.get('G'),
    issue_date: elements.get('F'),
    tax_amount: elements.get('N'),
    total_amount: elements.get('O'),
    currency: 'EUR',
  };
}
