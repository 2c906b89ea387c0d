<?php
// A small Laravel application with the login that its starter kits set up: notes for whoever is logged in.

use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Auth;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Route;
use Illuminate\Validation\ValidationException;

// Debian's packages.
require "Illuminate/autoload.php";

class Kernel extends Illuminate\Foundation\Http\Kernel
{
    protected $middlewareGroups = [
        "web" => [
            Illuminate\Cookie\Middleware\EncryptCookies::class,
            Illuminate\Cookie\Middleware\AddQueuedCookiesToResponse::class,
            Illuminate\Session\Middleware\StartSession::class,
            Illuminate\View\Middleware\ShareErrorsFromSession::class,
            Illuminate\Foundation\Http\Middleware\VerifyCsrfToken::class,
            Illuminate\Routing\Middleware\SubstituteBindings::class,
        ],
    ];
    protected $routeMiddleware = ["auth" => Authenticate::class];
}

class Authenticate extends Illuminate\Auth\Middleware\Authenticate
{
    protected function redirectTo($request)
    {
        return $request->expectsJson() ? null : "/login";
    }
}

$app = new Application(dirname(__DIR__));
$app->singleton(Illuminate\Contracts\Http\Kernel::class, Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);

$app->booted(function () {
    Route::middleware("web")->group(function () {
        Route::get("/login", fn() => view("login"))->name("login");
        Route::post("/login", function (Request $request) {
            $given = $request->validate(["email" => "required|email", "password" => "required"]);
            if (!Auth::attempt($given, $request->boolean("remember"))) {
                throw ValidationException::withMessages(["email" => trans("auth.failed")]);
            }
            $request->session()->regenerate();
            return redirect()->intended("/dashboard");
        });
        Route::middleware("auth")->group(function () {
            Route::get("/dashboard", fn() => view("dashboard", ["notes" => DB::table("notes")->pluck("text")]));
            Route::post("/notes", function (Request $request) {
                DB::table("notes")->insert(["text" => $request->input("text")]);
                return redirect("/dashboard");
            });
            Route::post("/logout", function (Request $request) {
                Auth::guard("web")->logout();
                $request->session()->invalidate();
                $request->session()->regenerateToken();
                return redirect("/");
            });
        });
        Route::get("/", fn() => "Welcome");
    });
});

$kernel = $app->make(Illuminate\Contracts\Http\Kernel::class);
$request = Request::capture();
$response = $kernel->handle($request)->send();
$kernel->terminate($request, $response);
