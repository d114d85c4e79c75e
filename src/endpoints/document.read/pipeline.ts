/**
 * Pictures → lines of print and codes → pages, the type of the document and its fields. Fields are found by their printed
 * codes and labels; without one only a VIN and the issuer of an invoice are read.
 */
import { calibrateReadings, createCalibration } from '../../inference/toolkit/calibration.ts';
import { type FoundCode, readCodes, type Symbology } from '../../inference/toolkit/codes/read-codes.ts';
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { markCutEnds } from '../../inference/toolkit/quality/cut-ends.ts';
import { type Layout, layOut } from '../../inference/toolkit/text/page-layout.ts';
import { PRINT_READING } from '../../inference/toolkit/text/text-lines.ts';
import { createPageReader } from '../../inference/toolkit/text/upright-text.ts';
import { findDocumentIssues } from '../shared/document-issues.ts';
import { CALIBRATION } from './calibration.ts';
import { fieldsOfCodes } from './coded-fields.ts';
import { MONTH_FIRST_COUNTRIES } from './document-words.ts';
import { SWISS_NUMBERS } from './field-rules.ts';
import { findFields, holdsSureVin } from './find-fields.ts';
import { findPage } from './find-page.ts';
import { onlyCurrency } from './parse-amount.ts';
import { monthFirstOf } from './parse-date.ts';
import { countCodes, recogniseCountry, recogniseType } from './recognise-document.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

/** Different dotted codes from which single letters are codes, too. */
const LEAST_CODES = 3;
/** Those that carry payments and taxes. */
const OF_BILLS: readonly Symbology[] = ['qr'];
/** Those of titles and certificates besides, which carry a VIN at most: searched only if its print is not sure. */
const WITH_VINS: readonly Symbology[] = [...OF_BILLS, 'code_39', 'code_128', 'data_matrix', 'aztec', 'pdf417'];
const CERTIFICATE = 'registration_certificate';

interface Page {
  layout: Layout;
  codes: readonly FoundCode[];
  imageIndex: number;
}

export const pipeline: PipelineDefinition = {
  tasks: [PRINT_READING],
  create: (model) => {
    const readPage = createPageReader(model);
    const calibrate = createCalibration(model, CALIBRATION);
    return async ({ pictures, parameters }): Promise<Result> => {
      const { document_type_hint, country_hint } = parameters as Parameters;
      const result: Result = { document_type: null, country: null, pages: [], fields: [], issues: [] };
      const pages: Page[] = [];
      for (const [imageIndex, each] of pictures.entries()) {
        const picture = await each.decode();
        const { lines: read, lookCloser } = await readPage(picture);
        const lines = markCutEnds(picture, read);
        let layout = layOut(lines);
        const type = recogniseType(textsOf(layout), document_type_hint);
        const page = findPage(layout, imageIndex, picture, type !== null);
        result.issues.push(...findDocumentIssues(picture, layout.printed, { imageIndex, isFound: page !== null }));
        if (!page) continue;
        // Its codes are letters that stand alone.
        if (type?.value === CERTIFICATE) layout = layOut([...lines, ...markCutEnds(picture, await lookCloser())]);
        const codes = await readCodes(picture, holdsSureVin(layout) ? OF_BILLS : WITH_VINS, { lightOnDark: false });
        result.pages.push(page);
        pages.push({ layout, codes, imageIndex });
      }
      const texts = pages.flatMap(({ layout }) => textsOf(layout));
      if (texts.length === 0) return result;
      const type = recogniseType(texts, document_type_hint);
      const country = recogniseCountry(texts, country_hint);
      const assumedType = type?.value ?? document_type_hint ?? null;
      const assumedCountry = country?.value ?? country_hint ?? null;
      const reading = {
        type: assumedType,
        hasCodes: type?.value === CERTIFICATE || countCodes(texts) >= LEAST_CODES,
        numbers: assumedCountry === 'CH' && assumedType === CERTIFICATE ? SWISS_NUMBERS : {},
        monthFirst: monthFirstOf(texts) ?? (assumedCountry === null ? null : MONTH_FIRST_COUNTRIES.has(assumedCountry)),
        currency: onlyCurrency(texts),
      };
      const fields = calibrateReadings(
        pages.flatMap(({ layout, imageIndex }) => findFields(layout, { ...reading, imageIndex })),
        calibrate,
      );
      const coded = pages.flatMap(({ codes, imageIndex }) => fieldsOfCodes(codes, assumedType, imageIndex));
      const isPrinted = (field: Result['fields'][number]) =>
        fields.some(({ name, value }) => name === field.name && value === field.value);
      fields.push(...coded.filter((field) => !isPrinted(field)));
      return { ...result, document_type: type, country, fields };
    };
  },
};

function textsOf({ lines }: Layout): string[] {
  return lines.map(({ text }) => text);
}
