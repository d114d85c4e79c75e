/**
 * The only metadata of a picture or film that the service made: by whom, and what was done, in XMP. It has no place, time, device, author or
 * identifier, and no free text, so it can be recognised byte by byte.
 * Sources: ISO 16684-1 (XMP); IPTC Photo Metadata Standard 2023.2, Digital Source Type.
 */
import { AI_EDITS, PICTURE_EDITS, type PictureEdit } from '../contracts/vocabulary/provenance.ts';

/** Before the packet in the segment APP1 of a JPEG. Source: XMP Specification, part 3, section 1.1.3. */
export const JPEG_XMP_NAME = 'http://ns.adobe.com/xap/1.0/\0';
/** Before the packet in the chunk iTXt of a PNG: keyword, uncompressed, no language, no translated keyword. */
export const PNG_XMP_HEADER = 'XML:com.adobe.xmp\0\0\0\0\0';
/** Before the packet in a box `uuid` of an MP4. Source: XMP Specification, part 3, section 1.1.8. */
export const MP4_XMP_UUID = Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex');

const TOOL = 'Vehicle Inference Service';
const SOURCE_TYPES = 'http://cv.iptc.org/newscodes/digitalsourcetype/';
/** More than any picture has. */
const MOST_EDITS = 16;
const EDIT = /<stEvt:parameters>([a-z_]+)<\/stEvt:parameters>/g;

/** The XMP packet of a picture or film. @param edits in the order in which they were made */
export function provenancePacket(edits: readonly PictureEdit[]): string {
  const type = sourceType(edits);
  return [
    '<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    '<x:xmpmeta xmlns:x="adobe:ns:meta/">',
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    '<rdf:Description rdf:about=""',
    ' xmlns:xmp="http://ns.adobe.com/xap/1.0/"',
    ' xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"',
    ' xmlns:stEvt="http://ns.adobe.com/xap/1.0/sType/ResourceEvent#"',
    ' xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">',
    `<xmp:CreatorTool>${TOOL}</xmp:CreatorTool>`,
    ...(type === null ? [] : [`<Iptc4xmpExt:DigitalSourceType>${SOURCE_TYPES}${type}</Iptc4xmpExt:DigitalSourceType>`]),
    ...(edits.length === 0 ? [] : [`<xmpMM:History><rdf:Seq>${edits.map(eventOf).join('')}</rdf:Seq></xmpMM:History>`]),
    '</rdf:Description></rdf:RDF></x:xmpmeta>',
    '<?xpacket end="r"?>',
  ].join('');
}

/** Whether these bytes are a packet that `provenancePacket` writes, and nothing else. */
export function isProvenancePacket(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const edits = [...text.matchAll(EDIT)].map(([, edit]) => PICTURE_EDITS.find((known) => known === edit));
  const known = edits.filter((edit) => edit !== undefined);
  if (known.length !== edits.length || known.length > MOST_EDITS) return false;
  return Buffer.from(provenancePacket(known)).equals(bytes);
}

/** Names of IPTC; null for a picture that was only decoded and written again. */
function sourceType(edits: readonly PictureEdit[]): string | null {
  if (edits.some((edit) => AI_EDITS.has(edit))) return 'compositeWithTrainedAlgorithmicMedia';
  return edits.length > 0 ? 'algorithmicallyEnhanced' : null;
}

function eventOf(edit: PictureEdit): string {
  return [
    '<rdf:li rdf:parseType="Resource"><stEvt:action>edited</stEvt:action>',
    `<stEvt:softwareAgent>${TOOL}</stEvt:softwareAgent>`,
    `<stEvt:parameters>${edit}</stEvt:parameters></rdf:li>`,
  ].join('');
}
