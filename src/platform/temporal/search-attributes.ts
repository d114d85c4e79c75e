import { Connection } from '@temporalio/client';
import { SearchAttributeType } from '@temporalio/common';
import { SEARCH_ATTRIBUTES } from '../../contracts/search-attributes.ts';

// temporal.api.enums.v1.IndexedValueType
const INDEXED_VALUE_TYPES: Partial<Record<SearchAttributeType, number>> = {
  [SearchAttributeType.KEYWORD]: 2,
  [SearchAttributeType.BOOL]: 5,
  [SearchAttributeType.KEYWORD_LIST]: 7,
};

/** Registers the search attributes that the namespace lacks. */
export async function registerSearchAttributes(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const known = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = Object.values(SEARCH_ATTRIBUTES).filter(({ name }) => !(name in (known.customAttributes ?? {})));
    if (missing.length === 0) return;
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_VALUE_TYPES[type] ?? 2])),
    });
  } finally {
    await connection.close();
  }
}
