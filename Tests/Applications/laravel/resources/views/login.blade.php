<!DOCTYPE html>
<html lang="en">
<head><meta name="csrf-token" content="{{ csrf_token() }}"><title>Notes</title></head>
<body>
<form method="POST" action="/login">
  @csrf
  <label>Email <input type="email" name="email" value="{{ old('email') }}" required autofocus autocomplete="username"></label>
  {{-- As the starter kits show what is wrong with a field: by its colour alone. --}}
  @if ($errors->get('email'))
  <ul class="mt-2 text-sm text-red-600 space-y-1">@foreach ($errors->get('email') as $message)<li>{{ $message }}</li>@endforeach</ul>
  @endif
  <label>Password <input type="password" name="password" required autocomplete="current-password"></label>
  <label><input type="checkbox" name="remember"> Remember me</label>
  <button>Log in</button>
</form>
</body>
</html>
