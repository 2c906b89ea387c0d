/* The table. A file that is not below Templates is copied unchanged. A zero byte follows each file and isn't counted, because a
 * file may be empty. */
#include "templates.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char swift_github_workflows_test_yml[] = {
#embed "../../../Templates/swift/.github/workflows/test.yml" suffix(,)
    0,
};

static const unsigned char swift_gitignore[] = {
#embed "../../../Templates/swift/.gitignore" suffix(,)
    0,
};

static const unsigned char swift_package_swift[] = {
#embed "../../../Templates/swift/Package.swift" suffix(,)
    0,
};

static const unsigned char swift_readme_md[] = {
#embed "../../../Templates/swift/README.md" suffix(,)
    0,
};

static const unsigned char swift_sources_acmekeysauth_acmekeysauth_swift[] = {
#embed "../../../Templates/swift/Sources/AcmeKeysAuth/AcmeKeysAuth.swift" suffix(,)
    0,
};

static const unsigned char swift_sources_linkage_linkage_swift[] = {
#embed "../../../Templates/swift/Sources/Linkage/Linkage.swift" suffix(,)
    0,
};

static const unsigned char swift_tests_acmekeysauthtests_acmekeysauthtests_swift[] = {
#embed "../../../Templates/swift/Tests/AcmeKeysAuthTests/AcmeKeysAuthTests.swift" suffix(,)
    0,
};

static const unsigned char swift_flow_readme_md[] = {
#embed "../../../Templates/swift-flow/README.md" suffix(,)
    0,
};

static const unsigned char swift_flow_sources_acmekeysauth_acmekeysauth_swift[] = {
#embed "../../../Templates/swift-flow/Sources/AcmeKeysAuth/AcmeKeysAuth.swift" suffix(,)
    0,
};

static const unsigned char swift_flow_tests_acmekeysauthtests_acmekeysauthtests_swift[] = {
#embed "../../../Templates/swift-flow/Tests/AcmeKeysAuthTests/AcmeKeysAuthTests.swift" suffix(,)
    0,
};

static const unsigned char c_github_workflows_test_yml[] = {
#embed "../../../Templates/c/.github/workflows/test.yml" suffix(,)
    0,
};

static const unsigned char c_gitignore[] = {
#embed "../../../Templates/c/.gitignore" suffix(,)
    0,
};

static const unsigned char c_makefile[] = {
#embed "../../../Templates/c/Makefile" suffix(,)
    0,
};

static const unsigned char c_readme_md[] = {
#embed "../../../Templates/c/README.md" suffix(,)
    0,
};

static const unsigned char c_acme_keys_c[] = {
#embed "../../../Templates/c/acme_keys.c" suffix(,)
    0,
};

static const unsigned char c_tests_tests_c[] = {
#embed "../../../Templates/c/tests/tests.c" suffix(,)
    0,
};

static const unsigned char nevod_plugin_h[] = {
#embed "../../NevodPluginABI/include/nevod_plugin.h" suffix(,)
    0,
};

static const unsigned char bindings_c_nevod_helpers_h[] = {
#embed "../../../Bindings/C/nevod_helpers.h" suffix(,)
    0,
};

static const unsigned char c_flow_readme_md[] = {
#embed "../../../Templates/c-flow/README.md" suffix(,)
    0,
};

static const unsigned char c_flow_acme_keys_c[] = {
#embed "../../../Templates/c-flow/acme_keys.c" suffix(,)
    0,
};

static const unsigned char c_flow_tests_tests_c[] = {
#embed "../../../Templates/c-flow/tests/tests.c" suffix(,)
    0,
};

static const unsigned char cpp_github_workflows_test_yml[] = {
#embed "../../../Templates/cpp/.github/workflows/test.yml" suffix(,)
    0,
};

static const unsigned char cpp_gitignore[] = {
#embed "../../../Templates/cpp/.gitignore" suffix(,)
    0,
};

static const unsigned char cpp_makefile[] = {
#embed "../../../Templates/cpp/Makefile" suffix(,)
    0,
};

static const unsigned char cpp_readme_md[] = {
#embed "../../../Templates/cpp/README.md" suffix(,)
    0,
};

static const unsigned char cpp_acme_keys_cpp[] = {
#embed "../../../Templates/cpp/acme_keys.cpp" suffix(,)
    0,
};

static const unsigned char cpp_exports_map[] = {
#embed "../../../Templates/cpp/exports.map" suffix(,)
    0,
};

static const unsigned char cpp_tests_tests_cpp[] = {
#embed "../../../Templates/cpp/tests/tests.cpp" suffix(,)
    0,
};

static const unsigned char cpp_flow_readme_md[] = {
#embed "../../../Templates/cpp-flow/README.md" suffix(,)
    0,
};

static const unsigned char cpp_flow_acme_keys_cpp[] = {
#embed "../../../Templates/cpp-flow/acme_keys.cpp" suffix(,)
    0,
};

static const unsigned char cpp_flow_tests_tests_cpp[] = {
#embed "../../../Templates/cpp-flow/tests/tests.cpp" suffix(,)
    0,
};

static const unsigned char rust_github_workflows_test_yml[] = {
#embed "../../../Templates/rust/.github/workflows/test.yml" suffix(,)
    0,
};

static const unsigned char rust_gitignore[] = {
#embed "../../../Templates/rust/.gitignore" suffix(,)
    0,
};

static const unsigned char rust_cargo_toml[] = {
#embed "../../../Templates/rust/Cargo.toml" suffix(,)
    0,
};

static const unsigned char rust_readme_md[] = {
#embed "../../../Templates/rust/README.md" suffix(,)
    0,
};

static const unsigned char rust_src_lib_rs[] = {
#embed "../../../Templates/rust/src/lib.rs" suffix(,)
    0,
};

static const unsigned char bindings_rust_nevod_plugin_rs[] = {
#embed "../../../Bindings/Rust/nevod_plugin.rs" suffix(,)
    0,
};

static const unsigned char rust_flow_readme_md[] = {
#embed "../../../Templates/rust-flow/README.md" suffix(,)
    0,
};

static const unsigned char rust_flow_src_lib_rs[] = {
#embed "../../../Templates/rust-flow/src/lib.rs" suffix(,)
    0,
};

static const unsigned char go_github_workflows_test_yml[] = {
#embed "../../../Templates/go/.github/workflows/test.yml" suffix(,)
    0,
};

static const unsigned char go_gitignore[] = {
#embed "../../../Templates/go/.gitignore" suffix(,)
    0,
};

static const unsigned char go_makefile[] = {
#embed "../../../Templates/go/Makefile" suffix(,)
    0,
};

static const unsigned char go_readme_md[] = {
#embed "../../../Templates/go/README.md" suffix(,)
    0,
};

static const unsigned char go_exports_map[] = {
#embed "../../../Templates/go/exports.map" suffix(,)
    0,
};

static const unsigned char go_go_mod[] = {
#embed "../../../Templates/go/go.mod" suffix(,)
    0,
};

static const unsigned char go_scheme_go[] = {
#embed "../../../Templates/go/scheme.go" suffix(,)
    0,
};

static const unsigned char go_scheme_test_go[] = {
#embed "../../../Templates/go/scheme_test.go" suffix(,)
    0,
};

static const unsigned char bindings_go_nevod_plugin_go[] = {
#embed "../../../Bindings/Go/nevod_plugin.go" suffix(,)
    0,
};

static const unsigned char go_flow_readme_md[] = {
#embed "../../../Templates/go-flow/README.md" suffix(,)
    0,
};

static const unsigned char go_flow_scheme_go[] = {
#embed "../../../Templates/go-flow/scheme.go" suffix(,)
    0,
};

static const unsigned char go_flow_scheme_test_go[] = {
#embed "../../../Templates/go-flow/scheme_test.go" suffix(,)
    0,
};

#define FILE_OF(set, path, bytes) {set, path, bytes, sizeof bytes - 1}

static const struct nevod_template_file files[] = {
    FILE_OF("swift", ".github/workflows/test.yml", swift_github_workflows_test_yml),
    FILE_OF("swift", ".gitignore", swift_gitignore),
    FILE_OF("swift", "Package.swift", swift_package_swift),
    FILE_OF("swift", "README.md", swift_readme_md),
    FILE_OF("swift", "Sources/AcmeKeysAuth/AcmeKeysAuth.swift", swift_sources_acmekeysauth_acmekeysauth_swift),
    FILE_OF("swift", "Sources/Linkage/Linkage.swift", swift_sources_linkage_linkage_swift),
    FILE_OF("swift", "Tests/AcmeKeysAuthTests/AcmeKeysAuthTests.swift", swift_tests_acmekeysauthtests_acmekeysauthtests_swift),
    FILE_OF("swift-flow", ".github/workflows/test.yml", swift_github_workflows_test_yml),
    FILE_OF("swift-flow", ".gitignore", swift_gitignore),
    FILE_OF("swift-flow", "Package.swift", swift_package_swift),
    FILE_OF("swift-flow", "README.md", swift_flow_readme_md),
    FILE_OF("swift-flow", "Sources/AcmeKeysAuth/AcmeKeysAuth.swift", swift_flow_sources_acmekeysauth_acmekeysauth_swift),
    FILE_OF("swift-flow", "Sources/Linkage/Linkage.swift", swift_sources_linkage_linkage_swift),
    FILE_OF("swift-flow", "Tests/AcmeKeysAuthTests/AcmeKeysAuthTests.swift", swift_flow_tests_acmekeysauthtests_acmekeysauthtests_swift),
    FILE_OF("c", ".github/workflows/test.yml", c_github_workflows_test_yml),
    FILE_OF("c", ".gitignore", c_gitignore),
    FILE_OF("c", "Makefile", c_makefile),
    FILE_OF("c", "README.md", c_readme_md),
    FILE_OF("c", "acme_keys.c", c_acme_keys_c),
    FILE_OF("c", "nevod/nevod_helpers.h", bindings_c_nevod_helpers_h),
    FILE_OF("c", "nevod/nevod_plugin.h", nevod_plugin_h),
    FILE_OF("c", "tests/tests.c", c_tests_tests_c),
    FILE_OF("c-flow", ".github/workflows/test.yml", c_github_workflows_test_yml),
    FILE_OF("c-flow", ".gitignore", c_gitignore),
    FILE_OF("c-flow", "Makefile", c_makefile),
    FILE_OF("c-flow", "README.md", c_flow_readme_md),
    FILE_OF("c-flow", "acme_keys.c", c_flow_acme_keys_c),
    FILE_OF("c-flow", "nevod/nevod_helpers.h", bindings_c_nevod_helpers_h),
    FILE_OF("c-flow", "nevod/nevod_plugin.h", nevod_plugin_h),
    FILE_OF("c-flow", "tests/tests.c", c_flow_tests_tests_c),
    FILE_OF("cpp", ".github/workflows/test.yml", cpp_github_workflows_test_yml),
    FILE_OF("cpp", ".gitignore", cpp_gitignore),
    FILE_OF("cpp", "Makefile", cpp_makefile),
    FILE_OF("cpp", "README.md", cpp_readme_md),
    FILE_OF("cpp", "acme_keys.cpp", cpp_acme_keys_cpp),
    FILE_OF("cpp", "exports.map", cpp_exports_map),
    FILE_OF("cpp", "nevod/nevod_helpers.h", bindings_c_nevod_helpers_h),
    FILE_OF("cpp", "nevod/nevod_plugin.h", nevod_plugin_h),
    FILE_OF("cpp", "tests/tests.cpp", cpp_tests_tests_cpp),
    FILE_OF("cpp-flow", ".github/workflows/test.yml", cpp_github_workflows_test_yml),
    FILE_OF("cpp-flow", ".gitignore", cpp_gitignore),
    FILE_OF("cpp-flow", "Makefile", cpp_makefile),
    FILE_OF("cpp-flow", "README.md", cpp_flow_readme_md),
    FILE_OF("cpp-flow", "acme_keys.cpp", cpp_flow_acme_keys_cpp),
    FILE_OF("cpp-flow", "exports.map", cpp_exports_map),
    FILE_OF("cpp-flow", "nevod/nevod_helpers.h", bindings_c_nevod_helpers_h),
    FILE_OF("cpp-flow", "nevod/nevod_plugin.h", nevod_plugin_h),
    FILE_OF("cpp-flow", "tests/tests.cpp", cpp_flow_tests_tests_cpp),
    FILE_OF("rust", ".github/workflows/test.yml", rust_github_workflows_test_yml),
    FILE_OF("rust", ".gitignore", rust_gitignore),
    FILE_OF("rust", "Cargo.toml", rust_cargo_toml),
    FILE_OF("rust", "README.md", rust_readme_md),
    FILE_OF("rust", "src/lib.rs", rust_src_lib_rs),
    FILE_OF("rust", "src/nevod_plugin.rs", bindings_rust_nevod_plugin_rs),
    FILE_OF("rust-flow", ".github/workflows/test.yml", rust_github_workflows_test_yml),
    FILE_OF("rust-flow", ".gitignore", rust_gitignore),
    FILE_OF("rust-flow", "Cargo.toml", rust_cargo_toml),
    FILE_OF("rust-flow", "README.md", rust_flow_readme_md),
    FILE_OF("rust-flow", "src/lib.rs", rust_flow_src_lib_rs),
    FILE_OF("rust-flow", "src/nevod_plugin.rs", bindings_rust_nevod_plugin_rs),
    FILE_OF("go", ".github/workflows/test.yml", go_github_workflows_test_yml),
    FILE_OF("go", ".gitignore", go_gitignore),
    FILE_OF("go", "Makefile", go_makefile),
    FILE_OF("go", "README.md", go_readme_md),
    FILE_OF("go", "exports.map", go_exports_map),
    FILE_OF("go", "go.mod", go_go_mod),
    FILE_OF("go", "nevod_plugin.go", bindings_go_nevod_plugin_go),
    FILE_OF("go", "nevod_plugin.h", nevod_plugin_h),
    FILE_OF("go", "scheme.go", go_scheme_go),
    FILE_OF("go", "scheme_test.go", go_scheme_test_go),
    FILE_OF("go-flow", ".github/workflows/test.yml", go_github_workflows_test_yml),
    FILE_OF("go-flow", ".gitignore", go_gitignore),
    FILE_OF("go-flow", "Makefile", go_makefile),
    FILE_OF("go-flow", "README.md", go_flow_readme_md),
    FILE_OF("go-flow", "exports.map", go_exports_map),
    FILE_OF("go-flow", "go.mod", go_go_mod),
    FILE_OF("go-flow", "nevod_plugin.go", bindings_go_nevod_plugin_go),
    FILE_OF("go-flow", "nevod_plugin.h", nevod_plugin_h),
    FILE_OF("go-flow", "scheme.go", go_flow_scheme_go),
    FILE_OF("go-flow", "scheme_test.go", go_flow_scheme_test_go),
};

const struct nevod_template_file *nevod_template_files(size_t *count) {
    *count = sizeof files / sizeof files[0];
    return files;
}
