/* Asserts the sizes and offsets of the contract that existing plugins were built with. If a line here fails to compile, the
 * ABI has changed: before the freeze, raise NEVOD_ABI_DRAFT; after it, undo the change. */
#include "nevod_plugin.h"

_Static_assert(sizeof(void *) == 8, "the contract is laid out for 64-bit platforms");

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has changed its size")
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")

SIZE(nevod_bytes, 16);
AT(nevod_bytes, data, 0);
AT(nevod_bytes, count, 8);

SIZE(nevod_pair, 32);
AT(nevod_pair, name, 0);
AT(nevod_pair, value, 16);

SIZE(nevod_errors, 24);
AT(nevod_errors, host, 8);
AT(nevod_errors, report, 16);

SIZE(nevod_host, 32);
AT(nevod_host, host, 8);
AT(nevod_host, log, 16);
AT(nevod_host, get_extension, 24);

SIZE(nevod_view, 176);
AT(nevod_view, target_kind, 4);
AT(nevod_view, method, 8);
AT(nevod_view, scheme, 24);
AT(nevod_view, authority, 40);
AT(nevod_view, target, 56);
AT(nevod_view, headers, 72);
AT(nevod_view, header_count, 80);
AT(nevod_view, body_kind, 84);
AT(nevod_view, body_length, 88);
AT(nevod_view, body, 96);
AT(nevod_view, digests, 112);
AT(nevod_view, digest_count, 120);
AT(nevod_view, attempt, 124);
AT(nevod_view, unix_time_ns, 128);
AT(nevod_view, random, 136);
AT(nevod_view, use_count, 152);
AT(nevod_view, state, 160);

SIZE(nevod_edits, 48);
AT(nevod_edits, host, 8);
AT(nevod_edits, set_header, 16);
AT(nevod_edits, add_header, 24);
AT(nevod_edits, add_query, 32);
AT(nevod_edits, add_cookie, 40);

SIZE(nevod_response, 56);
AT(nevod_response, status, 4);
AT(nevod_response, target_kind, 8);
AT(nevod_response, header_count, 12);
AT(nevod_response, headers, 16);
AT(nevod_response, body, 24);
AT(nevod_response, url, 40);

SIZE(nevod_setting, 72);
AT(nevod_setting, kind, 4);
AT(nevod_setting, flags, 8);
AT(nevod_setting, choice_count, 12);
AT(nevod_setting, choices, 16);
AT(nevod_setting, name, 24);
AT(nevod_setting, default_value, 40);
AT(nevod_setting, help, 56);

SIZE(nevod_needs, 24);
AT(nevod_needs, flags, 4);
AT(nevod_needs, digests, 8);
AT(nevod_needs, digest_count, 16);

SIZE(nevod_token, 48);
AT(nevod_token, bytes, 8);
AT(nevod_token, expires_at_unix_ns, 24);
AT(nevod_token, account, 32);

SIZE(nevod_event, 112);
AT(nevod_event, kind, 4);
AT(nevod_event, unix_time_ns, 8);
AT(nevod_event, random, 16);
AT(nevod_event, response, 32);
AT(nevod_event, token, 40);
AT(nevod_event, answers, 48);
AT(nevod_event, answer_count, 56);
AT(nevod_event, transport_error, 60);
AT(nevod_event, message, 64);
AT(nevod_event, url, 80);
AT(nevod_event, state, 96);

SIZE(nevod_question, 56);
AT(nevod_question, kind, 4);
AT(nevod_question, name, 8);
AT(nevod_question, prompt, 24);
AT(nevod_question, choices, 40);
AT(nevod_question, choice_count, 48);

SIZE(nevod_flow_request, 72);
AT(nevod_flow_request, header_count, 4);
AT(nevod_flow_request, method, 8);
AT(nevod_flow_request, url, 24);
AT(nevod_flow_request, headers, 40);
AT(nevod_flow_request, body, 48);
AT(nevod_flow_request, follow_redirects, 64);

SIZE(nevod_actions, 88);
AT(nevod_actions, host, 8);
AT(nevod_actions, send, 16);
AT(nevod_actions, ask, 24);
AT(nevod_actions, show, 32);
AT(nevod_actions, listen, 40);
AT(nevod_actions, browse, 48);
AT(nevod_actions, wait, 56);
AT(nevod_actions, keep, 64);
AT(nevod_actions, token, 72);
AT(nevod_actions, set_state, 80);

SIZE(nevod_public_suffix, 24);
AT(nevod_public_suffix, host, 8);
AT(nevod_public_suffix, is_public, 16);

SIZE(nevod_scheme, 144);
AT(nevod_scheme, flags, 4);
AT(nevod_scheme, context, 8);
AT(nevod_scheme, id, 16);
AT(nevod_scheme, title, 32);
AT(nevod_scheme, settings, 48);
AT(nevod_scheme, setting_count, 56);
AT(nevod_scheme, create, 64);
AT(nevod_scheme, destroy, 72);
AT(nevod_scheme, needs, 80);
AT(nevod_scheme, token_decode, 88);
AT(nevod_scheme, token_free, 96);
AT(nevod_scheme, authorize, 104);
AT(nevod_scheme, on_response, 112);
AT(nevod_scheme, flow_begin, 120);
AT(nevod_scheme, flow_step, 128);
AT(nevod_scheme, flow_free, 136);

SIZE(nevod_plugin, 80);
AT(nevod_plugin, abi_major, 4);
AT(nevod_plugin, abi_draft, 8);
AT(nevod_plugin, scheme_count, 12);
AT(nevod_plugin, schemes, 16);
AT(nevod_plugin, name, 24);
AT(nevod_plugin, version, 40);
AT(nevod_plugin, vendor, 56);
AT(nevod_plugin, get_extension, 72);
