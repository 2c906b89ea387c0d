"""Plugins whose functions never return: --max-time ends the command and names the function."""

from support import ServerTestCase, cases, compile_plugin

STUCK = """
#define _DEFAULT_SOURCE
#include <unistd.h>
#include "nevod_plugin.h"
static inline void stay(void) { for (;;) pause(); }
static inline int32_t stuck_begin(void *instance, int32_t kind, void **flow, const nevod_errors *errors) {
    (void)instance, (void)kind, (void)errors;
    *flow = NULL;
    if (IN_BEGIN) stay();
    return NEVOD_OK;
}
static inline int32_t stuck_step(void *instance, void *flow, const nevod_event *event, const nevod_actions *actions,
                                 const nevod_errors *errors) {
    (void)instance, (void)flow, (void)event, (void)actions, (void)errors;
    stay();
    return NEVOD_OK;
}
static inline void stuck_free(void *instance, void *flow) { (void)instance, (void)flow; }
#ifdef IN_CONSTRUCTOR
__attribute__((constructor)) static void construct(void) { stay(); }
#endif
"""
FLOWS = ".flow_begin = stuck_begin, .flow_step = stuck_step, .flow_free = stuck_free"


class StuckPlugins(ServerTestCase):
    def run_stuck(self, *words, begin=0, **pieces):
        header = self.file("stuck.h", STUCK)
        path = compile_plugin(
            self.folder / "libStuck.so", ["-include", header], IN_BEGIN=begin, **pieces)
        return self.run_host("-m", "1", "--no-store", "--plugin", path, *words, self.url("/a"))

    def expect_stuck(self, outcome, function, subject='the scheme "test"'):
        self.expect_failure(outcome, 28, f"libStuck.so: {subject} had not returned from {function} when ")

    def test_constructor(self):
        self.expect_stuck(self.run_stuck(IN_CONSTRUCTOR=1), "its constructors", "the library")

    def test_entry_point(self):
        self.expect_stuck(self.run_stuck(ANSWER="(stay(), &plugin)"), "nevod_plugin_v1", "the library")

    def test_create(self):
        self.expect_stuck(self.run_stuck(CREATE="stay()"), "create")
        self.expect_nothing_sent()

    @cases({"unannounced": "", "announced": ", .flags = NEVOD_SCHEME_BLOCKS"})
    def test_authorize(self, flag):
        outcome = self.run_stuck(AUTHORIZE="stay()", SCHEME=f".setting_count = 1{flag}")
        self.assertIn('libStuck.so: the scheme "test" had not returned from authorize when ', outcome.err)
        self.assertEqual(outcome.code, 28)
        self.expect_nothing_sent()

    @cases({
        "begin": ("flow_begin", 1, ""), "announced_begin": ("flow_begin", 1, ", .flags = NEVOD_SCHEME_BLOCKS"),
        "step": ("flow_step", 0, ""), "announced_step": ("flow_step", 0, ", .flags = NEVOD_SCHEME_BLOCKS"),
    })
    def test_flow(self, function, begin, flag):
        outcome = self.run_stuck(begin=begin, SCHEME=FLOWS + flag)
        self.assertIn(f'libStuck.so: the scheme "test" had not returned from {function} when ', outcome.err)
        self.assertEqual(outcome.code, 28)
        self.expect_nothing_sent()
