/** Dialogues lock the scroll of the page with a style element of `react-remove-scroll`, which takes its nonce from here. */
export { setNonce as setStyleNonce } from 'get-nonce';
